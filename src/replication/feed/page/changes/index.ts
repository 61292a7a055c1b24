export { ChangesPages } from './changes-pages.js';
export { cursorOf, isWithin, type ChangesPlace, placeOf, type Within } from './cursor.js';
export { behindPlace, type ChangesRequest } from './request.js';
export { ChangesSelector } from './selector.js';
export { LINES_TYPE } from './lines.js';
