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
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import express from 'express';
import { siteOf } from './docs/site.mjs';

/** The list of the files of a build: only these are removed by the next one. */
const ownFile = join('assets', 'files.json');

try {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: 'site' },
      serve: { type: 'boolean' },
      port: { type: 'string', default: '4000' },
    },
  });
  if (values.out === '') throw new Error('--out is empty: name a folder, such as --out site.');
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
  writeFileSync(made(ownFile), JSON.stringify([...texts.keys(), ...copies.keys()]));
  return [...texts.keys()].filter((place) => place.endsWith('.html')).length;
}

function empty(folder) {
  const [foreign] = foreignFiles(folder);
  if (foreign !== undefined)
    throw new Error(
      `--out ${folder} has other files, such as ${foreign}: name a new folder, such as --out site.`,
    );
  rmSync(folder, { recursive: true, force: true });
}

/** The files of a folder that no earlier build wrote. */
function foreignFiles(folder) {
  if (!existsSync(folder)) return [];
  const list = join(folder, ownFile);
  const places = existsSync(list) ? [ownFile, ...JSON.parse(readFileSync(list, 'utf8'))] : [];
  const own = new Set(places.map((place) => join(place)));
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .filter((path) => !own.has(path));
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
