/**
 * Everybody who is measured. A contestant has:
 * - `name`, `title`, and the `layout` of the data that it reads (see `stage.mjs`);
 * - `install()`, which answers what `start` gets as `installed`;
 * - `start({ uri, installed })`, which answers a running `Server`;
 * - `pagePath({ from?, to, lastoffsetid, limit })`, `itemsOf(answer)` and `nextOf(answer)`, for harvests;
 * - `changes`: how records are created, patched and followed through it, for the lost-change test;
 * - `foreignChanges`, where products that other programs write are followed as well.
 */
import { eve } from './eve.mjs';
import { floor } from './floor.mjs';
import { parse } from './parse.mjs';
import { plain, plainLean } from './plain.mjs';
import { restify } from './restify.mjs';
import { tidemark, unknowing } from './tidemark.mjs';

/** `floor` answers one path with a constant, and is no peer. */
export { floor, plain, tidemark, unknowing };

export const peers = [plain, plainLean, restify, parse, eve];
