"""Passwords that people choose themselves, after one login with a password that an administrator handed to them.

`one-time-password NAME` makes such a password (in the hub's container). It serves for one login; the person then chooses
one of their own, and has no server before that. Nobody comes in by a name that was given no password. Hashes only are
kept: of one-time passwords in the folder `one-time`, of the others in FirstUseAuthenticator's file.
"""
import asyncio
import dbm
import os
import pathlib
import secrets
import time

import bcrypt
from firstuseauthenticator import FirstUseAuthenticator
from tornado import web

FOLDER = pathlib.Path("/srv/jupyterhub/one-time")
CHANGE = "/hub/auth/change-password"
NOBODY = bcrypt.hashpw(b"", bcrypt.gensalt())  # is compared where there is no such person: equally slow
TRIES, MINUTES = 10, 5


def waiting(name):
    """The file with the hash of a one-time password that was not used yet."""
    return FOLDER / name


def used(name):
    """The file that is there from the login with a one-time password until a password is chosen."""
    return FOLDER / f"{name}.used"


def give(name):
    """Makes a one-time password for a person, in place of one that was not used."""
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    password = secrets.token_urlsafe(12)
    part = FOLDER / f".{name}.{os.getpid()}"
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(bcrypt.hashpw(password.encode(), bcrypt.gensalt()))
    part.replace(waiting(name))
    return password


async def fits(password, kept):
    """Compares with a hash, in a thread: that takes its time on purpose, which is not the other people's."""
    return await asyncio.to_thread(bcrypt.checkpw, password.encode()[:72], kept)


class Passwords(FirstUseAuthenticator):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.wrong = {}  # name: how many wrong passwords in a row, and when the last of them came

    def kept(self, name):
        """The hash of the password that a person chose, or None."""
        with dbm.open(self.dbm_path, "c", 0o600) as passwords:
            return passwords.get(name.encode())

    async def authenticate(self, handler, data):
        name, password = self.normalize_username(data["username"]), data["password"]
        if not self.validate_username(name):
            return None
        count, last = self.wrong.get(name, (0, 0))
        if count >= TRIES and time.monotonic() - last < 60 * MINUTES:
            handler.custom_login_error = f"Too many wrong passwords for this name: wait {MINUTES} minutes."
            return None
        once, chosen = waiting(name), self.kept(name)
        if once.exists() and await fits(password, once.read_bytes()):
            once.rename(used(name))
        elif not await fits(password, chosen or NOBODY) or not chosen:
            self.wrong[name] = count + 1, time.monotonic()
            return None
        elif used(name).exists():
            handler.custom_login_error = "Your one-time password was used: ask your administrator for another."
            return None
        self.wrong.pop(name, None)
        return name

    def reset_password(self, username, new_password):
        said = super().reset_password(username, new_password)
        if "success" in said:
            used(username).unlink(missing_ok=True)
        return said

    def delete_user(self, user):
        super().delete_user(user)
        for file in waiting(user.name), used(user.name):
            file.unlink(missing_ok=True)


def first_page(handler):
    """Where a person goes after the login: to choose a password, if they still have to, else to their server."""
    user = handler.current_user
    return CHANGE if user and used(user.name).exists() else ""


def before_server(spawner):
    """Refuses a server to who has not chosen a password."""
    if used(spawner.user.name).exists():
        refused = web.HTTPError(403)
        refused.jupyterhub_message = f"Choose a password of your own first, at {CHANGE}."
        raise refused
