/** Lint rule: a room imports only from rooms before it in the list of rooms, and only through their doors. */
import { relative, sep } from 'node:path';
import { rooms } from '../rooms.mjs';
import { imported, roomOf } from './room-of.mjs';

/** What others may use of a room; of that, what works without Nest; and of that, what needs no driver either. */
const DOORS = ['index.ts', 'plain.ts', 'pure.ts'];

const ENTRIES = /^src\/((main|cli)\.entry|app\.module)\.ts$/;

export const walls = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      upwards: 'The room {{room}} may not import from {{other}}, which comes after it in rooms.mjs.',
      inside: 'Another room is entered through its index.js, its plain.js or its pure.js only.',
      entry: 'Nothing imports an entry.',
    },
  },
  create(context) {
    const path = relative(context.cwd, context.filename).split(sep).join('/');
    const room = roomOf(path, rooms);
    const check = ({ source }) => {
      if (typeof source?.value !== 'string' || !source.value.startsWith('.')) return;
      const target = imported(path, source.value);
      const other = roomOf(target, rooms);
      const report = (messageId) => context.report({ node: source, messageId, data: { room, other } });
      if (room !== undefined && ENTRIES.test(target)) report('entry');
      if (other === undefined || other === room) return;
      if (room !== undefined && rooms.indexOf(other) > rooms.indexOf(room)) report('upwards');
      else if (!DOORS.some((door) => target === `src/${other}/${door}`)) report('inside');
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
    };
  },
};
