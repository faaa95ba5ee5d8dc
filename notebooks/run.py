"""Executes notebooks on their real kernel and writes each as one HTML page, without any network.

    .venv/bin/python notebooks/run.py notebooks/quickstart.ipynb --html out/quickstart.html
    .venv/bin/python notebooks/run.py notebooks/*.ipynb --save --picture quickstart-mines docs/quickstart-mines.svg

The page holds everything that it shows: figures are interactive, and nothing is loaded from elsewhere. What the cells
print goes to stdout, progress to stderr. With --save the notebooks themselves get the results; --picture writes one of
their figures, by its name, to a file of its own. A failing cell ends it with its error and exit status 1; nothing of
that notebook is written then. `go run ./kernels/install` prepares what it needs.
"""
import argparse
import os
import pathlib
import re
import sys
import tempfile
import time
import urllib.parse

try:
    import nbclient
    import nbconvert
    import nbformat
    from jupyter_client.kernelspec import NoSuchKernel
except ImportError as e:
    sys.exit(f"notebooks/run.py: {e}: run it with .venv/bin/python, after `make setup`")

PROJECT = pathlib.Path(__file__).resolve().parent.parent
LIVE = sys.stderr.isatty()


class Client(nbclient.NotebookClient):
    """Tells on the terminal what happens in the cells."""

    def process_message(self, msg, cell, cell_index):
        data = msg["content"].get("data", {})
        if LIVE and msg["content"].get("transient", {}).get("display_id") and "text/plain" in data:
            print("\r\033[K" + data["text/plain"], end="", file=sys.stderr, flush=True)
        return super().process_message(msg, cell, cell_index)


def tell(notebook):
    """Hooks that announce a cell before it runs, and repeat then what it printed, and how progress bars ended."""
    total = sum(c.cell_type == "code" for c in notebook.cells)
    done = 0

    def before(cell, cell_index):
        nonlocal done
        if cell.cell_type == "code":
            done += 1
            print(f"cell {done} of {total} ...", file=sys.stderr, flush=True)

    def after(cell, cell_index, execute_reply):
        if LIVE:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        for out in cell.outputs:
            if out.output_type == "stream" and out.name == "stdout":
                print(out.text, end="", flush=True)
            elif out.output_type == "display_data" and "<progress" in out.data.get("text/html", ""):
                print(out.data["text/plain"], flush=True)

    return {"on_cell_start": before, "on_cell_executed": after}


def set_parameters(notebook, source):
    """Replaces the cell tagged "parameters". Without a source, as for --small, it is taken from that cell's metadata
    "small"; a notebook that has none stays as it is."""
    tagged = [c for c in notebook.cells if "parameters" in c.metadata.get("tags", [])]
    if source is None:
        tagged = [c for c in tagged if "small" in c.metadata]
        if not tagged:
            return
    if len(tagged) != 1:
        sys.exit(f'notebooks/run.py: {len(tagged)} cells are tagged "parameters": tag exactly one to use --parameters')
    tagged[0].source = tagged[0].metadata["small"] if source is None else source


def failure(notebook):
    """What the failed cell said, and the cell itself."""
    failed = next(c for c in notebook.cells if any(o.output_type == "error" for o in c.get("outputs", [])))
    said = "".join(o.text if o.output_type == "stream" else "\n".join(o.traceback) for o in failed.outputs
                   if o.output_type in ("stream", "error"))
    said = re.sub(r"\033\[[0-9;]*m", "", said)
    return f"this cell failed:\n\n{failed.source}\n\nIt said:\n\n{said.strip()}"


def execute(notebook, folder, timeout):
    """Runs all cells in place, each for `timeout` seconds at most, with `folder` as their working directory."""
    resources = {"metadata": {"path": str(folder)}}
    # Without times of execution, a saved notebook changes only where its results do.
    client = Client(notebook, timeout=timeout, resources=resources, coalesce_streams=True, record_timing=False, **tell(notebook))
    # The kernel logs every cell: of interest only where it doesn't start or dies.
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        try:
            client.execute(stderr=log)
        except nbclient.exceptions.CellExecutionError:
            sys.exit(f"notebooks/run.py: {failure(notebook)}")
        except nbclient.exceptions.CellTimeoutError:
            sys.exit(f"notebooks/run.py: a cell took more than {timeout} s: give it more with --timeout")
        except NoSuchKernel as e:
            sys.exit(f"notebooks/run.py: no kernel {e.name!r} here: run `make setup`, and this with .venv/bin/python")
        except FileNotFoundError as e:  # kernel.json names a program of a clone that is gone
            sys.exit(f"notebooks/run.py: the kernel does not start: no {e.filename}: run `make setup`")
        except RuntimeError as e:  # dead, or never ready
            log.seek(0)
            sys.exit(f"notebooks/run.py: the kernel failed ({e}); its last words:\n{log.read()[-2000:]}")


def echarts():
    """The charting library, from where package echarts has it, too."""
    path = pathlib.Path(os.environ.get("REVGNN_ECHARTS") or PROJECT / ".venv/share/revgnn/echarts.min.js")
    try:
        return path.read_text(encoding="utf-8")
    except OSError as e:
        sys.exit(f"notebooks/run.py: no ECharts ({e}): run `make setup`")


def page(notebook, title):
    """The notebook as one HTML page with ECharts inside and no address to load anything from."""
    libraries = ("require_js_url", "mathjax_url", "jquery_url", "mermaid_js_url", "mermaid_layout_elk_js_url")
    exporter = nbconvert.HTMLExporter(**dict.fromkeys(libraries, ""))
    html, _ = exporter.from_notebook_node(notebook, resources={"metadata": {"name": title}})
    # The library is in the page, so figures need no public copy.
    html = re.sub(r"https://[^\"'\s]*/echarts\.min\.js", "", html)
    return html.replace("</head>", f"<script>{echarts()}</script>\n</head>", 1)


def picture(notebook, name):
    """The static picture, in SVG, of the figure of that name; None where the notebook has no such figure."""
    start = f'<div id="{re.escape(name)}" class="revgnn-figure"'
    figure = re.compile(start + r'.*?src="data:image/svg\+xml,([^"]*)"', re.DOTALL)
    shown = (o.get("data", {}).get("text/html", "") for c in notebook.cells for o in c.get("outputs", []))
    found = next(filter(None, map(figure.search, shown)), None)
    return found and urllib.parse.unquote(found[1]) + "\n"


def write(path, text):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def run(path, args):
    """Executes the notebook at path, writes what is asked for, and returns what it then holds."""
    start = time.monotonic()
    try:
        notebook = nbformat.read(path, as_version=4)
    except OSError as e:
        sys.exit(f"notebooks/run.py: {e}")
    if args.small or args.parameters is not None:
        set_parameters(notebook, args.parameters)
    execute(notebook, path.resolve().parent, args.timeout)
    saved = path if args.save else args.ipynb
    if saved:
        write(saved, nbformat.writes(notebook) + "\n")
    if args.html:
        write(args.html, page(notebook, path.stem))
    written = ", ".join(str(f) for f in (args.html, saved) if f) or "nothing"
    print(f"wrote {written} in {time.monotonic() - start:.0f} s", flush=True)
    return notebook


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="+", type=pathlib.Path, metavar="notebook")
    parser.add_argument("--html", metavar="FILE", help="where to write the page")
    parser.add_argument("--ipynb", metavar="FILE", help="where to write the executed notebook")
    parser.add_argument("--save", action="store_true", help="write the executed notebooks over themselves")
    parser.add_argument("--picture", nargs=2, metavar=("FIGURE", "FILE"),
                        help="a figure, and where to write it as SVG")
    parser.add_argument("--timeout", type=int, default=1800, metavar="SECONDS", help="for each cell (default: %(default)s)")
    parser.add_argument("--parameters", metavar="SOURCE", help='Go source in place of the cell tagged "parameters"')
    parser.add_argument("--small", action="store_true",
                        help='a quick run: the cell tagged "parameters" is replaced by its metadata "small", if there is')
    args = parser.parse_args()
    if len(args.notebooks) > 1 and (args.html or args.ipynb or args.parameters is not None):
        parser.error("--html, --ipynb and --parameters are for one notebook")
    if args.save and (args.ipynb or args.small or args.parameters is not None):
        parser.error("--save goes with none of --ipynb, --parameters and --small")
    if args.small and args.parameters is not None:
        parser.error("--small and --parameters both set the parameters: use one of them")
    done = [run(path, args) for path in args.notebooks]
    if args.picture:
        name, file = args.picture
        drawn = next(filter(None, (picture(notebook, name) for notebook in done)), None)
        if drawn is None:
            sys.exit(f"notebooks/run.py: no figure is named {name!r} in {', '.join(map(str, args.notebooks))}")
        write(file, drawn)


if __name__ == "__main__":
    main()
