export const HELP = `Usage: tidemark-harvest [verify|repair] --url URL --org ORG --app APP --kind KIND --to COPY [OPTIONS]

Keeps a copy of what a service of Tidemark tells. Run it again, and it goes on where it ended,
however it ended: what a page told and how far the copy is are stored together.

  (no word)             harvests once, or follows
  verify                harvests, then compares ids and timestamps of the copy with the service
  repair                verifies, and mends what differs

  --url URL             where the service answers, such as https://feeds.example.com
  --org ORG             organization identifier
  --app APP             application identifier
  --kind KIND           the kind of record, such as member or product
  --service NAME        name of the service; default, which filters nothing, unless given
  --to COPY             copy.sqlite, copy.ndjson, mongodb://HOST/DATABASE or postgres://HOST/DATABASE;
                        the variable TIDEMARK_TO in its place where it holds a password
  --table NAME          table or collection of the copy; members or products unless given
  --username NAME       user name, or the variable TIDEMARK_USERNAME
  --password-stdin      reads the password from stdin; else the variable TIDEMARK_PASSWORD
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                        variables: the proxy for requests, and hosts without one; from Node 26 on

  --once                harvests once and ends; this is what it does unless told otherwise
  --follow              goes on for ever: harvests whenever something may have changed. A failure that may pass
                        is tried again after 5 s, or as Retry-After says, after 10 minutes at the latest
  --start-over          reads everything anew, over what the copy holds; not with verify or repair
  --columns             adds a typed column for each field of the data, from the schema of the service, and
                        for new fields later; in SQLite and PostgreSQL. What does not fit is null there
  --limit NUMBER        items of a page, 1000 unless given
  --json                for machines: one line of JSON on stdout at the end, progress on stderr
  --help, --version

Ctrl-C ends it behind the page that is being stored.

Exit codes:
  0    done; verify and repair: copy and service are equal
  1    verify and repair: they differ
  2    the command line is not right
  3    the service refuses: credentials, a name that it does not know, a service that is misconfigured
  4    the service cannot be reached, or is away for longer than was waited for
  5    the copy cannot be opened, read or written
  6    done, and equal but for records that the copy cannot hold: each is named, with the reason
  7    the database of the service was restored from an earlier copy, and lacks changes that this copy
       received: run it once with --start-over, which removes them from the copy
  8    done, but the result cannot be written to stdout, such as to a full disk; after another failure,
       its own code. With --follow the harvests go on. A closed pipe, as of | head, is no failure
  130  interrupted; what was stored is whole. With --follow, which has no end of its own, 0 or 6
`;
