"""Eve over the same products; settings come from the environment."""

import os

from eve import Eve
from eve.auth import BasicAuth


class OneUser(BasicAuth):
    def check_auth(self, username, password, allowed_roles, resource, method):
        return (
            username == os.environ["API_USERNAME"]
            and password == os.environ["API_PASSWORD"]
        )


SETTINGS = {
    "MONGO_URI": os.environ["MONGODB_URI"],
    "RESOURCE_METHODS": ["GET", "POST"],
    "ITEM_METHODS": ["GET", "PATCH"],
    "LAST_UPDATED": "lastupdated",
    "DATE_CREATED": "createDate",
    "PAGINATION_LIMIT": 10000,
    "OPTIMIZE_PAGINATION_FOR_SPEED": True,
    "HATEOAS": False,
    "IF_MATCH": False,
    "DOMAIN": {"products": {"schema": {"data": {"type": "dict"}}, "allow_unknown": True}},
}

app = Eve(settings=SETTINGS, auth=OneUser)
