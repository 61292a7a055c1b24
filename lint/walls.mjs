/** Lint rule: an import into another room is allowed where the table of rooms says so, and only through its doors. */
import { relative, sep } from 'node:path';
import { rooms } from '../rooms.mjs';
import { imported, roomOf } from './room-of.mjs';

/** What others may use of a room; of that, what works without Nest; and of that, what needs no driver either. */
const DOORS = ['index.ts', 'plain.ts', 'pure.ts'];

const names = Object.keys(rooms);

const ENTRIES = /^src\/((main|cli)\.entry|app\.module)\.ts$/;

export const walls = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      unknown: 'The room {{room}} does not know {{other}}: see rooms.mjs.',
      inside: 'Another room is entered through its index.js, its plain.js or its pure.js only.',
      entry: 'Nothing imports an entry.',
    },
  },
  create(context) {
    const path = relative(context.cwd, context.filename).split(sep).join('/');
    const room = roomOf(path, names);
    const check = ({ source }) => {
      if (typeof source?.value !== 'string' || !source.value.startsWith('.')) return;
      const target = imported(path, source.value);
      const other = roomOf(target, names);
      const report = (messageId) => context.report({ node: source, messageId, data: { room, other } });
      if (room !== undefined && ENTRIES.test(target)) report('entry');
      if (other === undefined || other === room) return;
      if (room !== undefined && !rooms[room].includes(other)) report('unknown');
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
