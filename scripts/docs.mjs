/**
 * `npm run docs`: builds the pages of the repository into a static site in `site/`, and fails on a broken link. `-- --out FOLDER`
 * writes it elsewhere; `-- --serve` serves it at http://127.0.0.1:4000 (`--port` sets another port), and builds it again whenever
 * a page is asked for.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import express from 'express';
import { siteOf } from './docs/site.mjs';

const ownFile = join('assets', 'sections.js');

try {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: 'site' },
      serve: { type: 'boolean' },
      port: { type: 'string', default: '4000' },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`--port ${values.port} is no port: give a number from 0 to 65535, such as --port 4000.`);
  const pages = build(values.out);
  if (values.serve) serve(values.out, port);
  else console.log(`${pages} pages in ${values.out}: open ${join(values.out, 'index.html')} in a browser.`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

/** Writes the site into an empty folder, or in place of an earlier build. Answers the number of pages. */
function build(folder) {
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', listed, { encoding: 'utf8', maxBuffer: 2 ** 26 })
    .split('\0')
    .filter(existsSync);
  const { texts, copies } = siteOf({ files, read: (path) => readFileSync(path, 'utf8') });
  empty(folder);
  const made = (place) => {
    mkdirSync(dirname(join(folder, place)), { recursive: true });
    return join(folder, place);
  };
  for (const [place, text] of texts) writeFileSync(made(place), text);
  for (const [place, path] of copies) copyFileSync(path, made(place));
  return [...texts.keys()].filter((place) => place.endsWith('.html')).length;
}

function empty(folder) {
  const isForeign =
    existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, ownFile));
  if (isForeign) throw new Error(`--out ${folder} has other files: name a new folder, such as --out site.`);
  rmSync(folder, { recursive: true, force: true });
}

function serve(folder, port) {
  const server = express()
    .use((request, response, next) => {
      try {
        if (/(\/|\.html)$/.test(request.path)) build(folder);
        next();
      } catch ({ message }) {
        response.status(500).type('text').send(message);
      }
    })
    .use(express.static(folder))
    .listen(port, '127.0.0.1', (error) => {
      if (error) {
        console.error(`Port ${port} cannot be used (${error.code}): name another one, such as --port 4001.`);
        process.exitCode = 1;
        return;
      }
      console.log(`The pages are at http://127.0.0.1:${server.address().port}/. Ctrl-C ends this.`);
    });
}
