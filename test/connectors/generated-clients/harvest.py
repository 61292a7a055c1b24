"""Harvests products with the client that openapi-python-client made, and prints what came as JSON."""

import base64
import json
import sys

from tidemark_client import AuthenticatedClient
from tidemark_client.api.replication import get_product_max, list_product_changes, list_product_updates
from tidemark_client.models import ChangeDelete, ChangesPage, ChangeUpsert, SafeOffset, UpdatesPage
from tidemark_client.types import UNSET, Unset

LIMIT = 100


def updates(client: AuthenticatedClient, org: str, app: str) -> list[str]:
    offset = get_product_max.sync(org, app, client=client)
    assert isinstance(offset, SafeOffset)
    found: list[str] = []
    place = ""
    while True:
        page = list_product_updates.sync(
            org, app, "default", client=client, to=offset.offset, lastoffsetid=place, limit=LIMIT
        )
        assert isinstance(page, UpdatesPage)
        found += [item.id for item in page.result]
        place = page.nextoffsetid
        if place == "":
            return found


def told_by(item: ChangeUpsert | ChangeDelete) -> str:
    return item.op.value if isinstance(item, ChangeUpsert) else item.reason.value


def changes(client: AuthenticatedClient, org: str, app: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    cursor: str | Unset = UNSET
    while True:
        page = list_product_changes.sync(org, app, "bikes", client=client, cursor=cursor, limit=LIMIT)
        assert isinstance(page, ChangesPage)
        found += [(told_by(item), item.id) for item in page.result]
        cursor = page.cursor
        if isinstance(page.next_, Unset):
            return found


def main(url: str, login: str, org: str, app: str) -> None:
    token = base64.b64encode(login.encode()).decode()
    with AuthenticatedClient(base_url=url, token=token, prefix="Basic") as client:
        print(json.dumps({"updates": updates(client, org, app), "changes": changes(client, org, app)}))


main(*sys.argv[1:])
