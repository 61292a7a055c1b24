#!/bin/sh
# Makes the secrets that are missing, at random. The containers read these files as their own users, so the files are
# readable for all, and the folder for its owner only.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
chmod 700 secrets
umask 022

random() {
  od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}

make() {
  [ -e "secrets/$1" ] || printf '%s' "$2" >"secrets/$1"
}

make mongodb_key "$(random)"
make mongodb_root_password "$(random)"
make mongodb_uri "mongodb://tidemark:$(random)@mongodb-1,mongodb-2,mongodb-3/tidemark?replicaSet=tidemark&authSource=tidemark"
make grafana_password "$(random)"
