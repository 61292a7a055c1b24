"""Keeps a copy of one feed in copy.sqlite, with Python's standard library only. Run it as often as you like; it takes from
the environment TIDEMARK_FEED (such as http://localhost:3000/demo/shop/api/v1/product/bikes), TIDEMARK_USER and
TIDEMARK_PASSWORD."""

import base64
import json
import os
import sqlite3
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

FEED, USER, PASSWORD = (os.environ[f"TIDEMARK_{name}"] for name in ("FEED", "USER", "PASSWORD"))
LOGIN = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
SCHEMA = """
create table if not exists records (id text primary key, item text not null, harvest integer not null);
create table if not exists place (cursor text, harvest integer not null);
insert into place select null, 1 where not exists (select * from place);
"""


def page(cursor):
    """The next page; nothing where the service does not know all deletes since the cursor any more."""
    query = urllib.parse.urlencode({"limit": 1000, **({"cursor": cursor} if cursor else {})})
    request = urllib.request.Request(f"{FEED}/changes?{query}", headers={"Authorization": f"Basic {LOGIN}"})
    while True:
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 410:
                return None
            if error.code not in (429, 502, 503, 504):
                sys.exit(f"{error.code}: {json.load(error)['detail']}")
            time.sleep(int(error.headers.get("Retry-After", 1)))


def apply(copy, told, harvest):
    for item in told["result"]:
        if item["op"] == "delete":
            copy.execute("delete from records where id = ?", [item["id"]])
        else:
            copy.execute("replace into records values (?, ?, ?)", [item["id"], json.dumps(item), harvest])
    if "next" not in told:  # the end of a window: what a new beginning did not tell of is gone
        copy.execute("delete from records where harvest < ?", [harvest])
    copy.execute("update place set cursor = ?", [told["cursor"]])


copy = sqlite3.connect("copy.sqlite")
copy.executescript(SCHEMA)
told = None
while told is None or "next" in told:
    cursor, harvest = copy.execute("select cursor, harvest from place").fetchone()
    told = page(cursor)
    with copy:  # items and cursor in one transaction
        if told is None:
            copy.execute("update place set cursor = null, harvest = harvest + 1")
        else:
            apply(copy, told, harvest)
