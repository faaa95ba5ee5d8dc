package notebooks_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestCompletion presses Tab and Shift-Tab in JupyterLab. After Tab, JupyterLab must offer names that begin with the
// letters before the cursor. After Shift-Tab, it must show the documentation of the name at the cursor. Both come from
// Go's language server gopls. The kernel connects to gopls some twelve seconds after the kernel has started.
func TestCompletion(t *testing.T) {
	t.Parallel() // with TestLab: both wait for most of the time
	if _, err := os.Stat(filepath.Join(venv(t), "bin", "gopls")); err != nil {
		t.Skip("no .venv/bin/gopls: run `make setup` to test completion")
	}
	browser(t) // no need to start a server where there is none
	s := newServer(t)
	const imports = "import \"github.com/revgnn/revgnn/pkg/report/nb\"\n\n%%\n"
	s.write(t, "code.ipynb", imports+"nb.S", imports+"nb.Save(\"name\", 1)")
	s.start(t)
	p := browser(t)

	p.openLab(t, s, "code.ipynb")

	// ready waits until the notebook has a kernel. Then it puts the cursor on the last line of a cell, at the given
	// column.
	ready := func(cell, column int) {
		t.Helper()
		p.until(t, fmt.Sprintf(`!!globalThis.jupyterapp && (() => {
			const panel = [...jupyterapp.shell.widgets('main')].find(w => w.sessionContext);
			if (panel?.sessionContext.session?.kernel?.connectionStatus !== 'connected') return false;
			jupyterapp.shell.activateById(panel.id);
			panel.content.activeCellIndex = %d;
			panel.content.mode = 'edit';
			const editor = panel.content.activeCell?.editor;
			if (!editor) return false;
			editor.setCursorPosition({line: editor.lineCount - 1, column: %d});
			editor.focus();
			return document.activeElement.classList.contains('cm-content');
		})()`, cell, column), true)
	}
	// press presses keys until the elements that selector finds contain the wanted text. One try may not be enough:
	// until gopls has read all packages, the kernel answers with nothing, or says that the answer took too long.
	press := func(what string, cell, column int, selector, wanted string, keys ...chromedp.Action) {
		t.Helper()
		text := ""
		look := fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.textContent).join(' ')`, selector)
		for deadline := time.Now().Add(4 * time.Minute); time.Now().Before(deadline); {
			ready(cell, column)
			p.do(t, "pressing "+what, keys...)
			for range 50 {
				time.Sleep(200 * time.Millisecond)
				if p.do(t, "looking at the page", chromedp.Evaluate(look, &text)); text != "" {
					break
				}
			}
			if strings.Contains(text, wanted) {
				return
			}
			p.do(t, "closing what is open", chromedp.KeyEvent(kb.Escape)) // or leaving the editor
		}
		t.Fatalf("%s shows %q, want %q; the page: %s", what, text, wanted, p.screenshot(t))
	}
	press("Tab", 0, len("nb.S"), ".jp-Completer:not(.lm-mod-hidden) .jp-Completer-item", "Save",
		chromedp.KeyEvent(kb.Tab))
	p.do(t, "closing what is open", chromedp.KeyEvent(kb.Escape))
	press("Shift-Tab", 1, len("nb.Sa"), ".jp-Tooltip", "stores a copy of v under a name",
		chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(input.ModifierShift)))
	p.quiet(t)
}

// write saves a notebook with the given cells in the server's folder of notebooks.
func (s *server) write(t *testing.T, name string, sources ...string) {
	t.Helper()
	var cells []any
	for i, source := range sources {
		cells = append(cells, map[string]any{"cell_type": "code", "id": fmt.Sprint("cell-", i),
			"metadata": map[string]any{}, "source": source, "outputs": []any{}, "execution_count": nil})
	}
	text, err := json.Marshal(map[string]any{"nbformat": 4, "nbformat_minor": 5, "cells": cells,
		"metadata": map[string]any{"kernelspec": map[string]string{
			"name": "revgnn", "display_name": "Go (revgnn)", "language": "go"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.root, name), text, 0o644); err != nil {
		t.Fatal(err)
	}
}
