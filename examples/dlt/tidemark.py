"""Keeps a copy of one feed in copy.duckdb, with dlt. Run it as often as you like; it takes from the environment
TIDEMARK_FEED (such as http://localhost:3000/demo/shop/api/v1/product/bikes), TIDEMARK_USER and TIDEMARK_PASSWORD."""

import os

import dlt
from dlt.sources.rest_api import rest_api_source

source = rest_api_source(
    {
        "client": {
            "base_url": os.environ["TIDEMARK_FEED"],
            "auth": {
                "type": "http_basic",
                "username": os.environ["TIDEMARK_USER"],
                "password": os.environ["TIDEMARK_PASSWORD"],
            },
            "paginator": {"type": "cursor", "cursor_path": "nextoffsetid", "cursor_param": "lastoffsetid"},
        },
        "resources": [
            {
                "name": "records",
                "primary_key": "id",
                "write_disposition": "merge",
                "columns": {
                    # Only deletes have a reason.
                    "reason": {"data_type": "text", "hard_delete": True},
                    "data": {"data_type": "json"},
                    "channels": {"data_type": "json"},
                },
                "endpoint": {
                    "path": "changes",
                    "params": {"limit": 1000},
                    "data_selector": "result",
                    "incremental": {"cursor_path": "lastupdated", "start_param": "from"},
                },
            }
        ],
    }
)

pipeline = dlt.pipeline("tidemark", destination=dlt.destinations.duckdb("copy.duckdb"), dataset_name="tidemark")
print(pipeline.run(source))
