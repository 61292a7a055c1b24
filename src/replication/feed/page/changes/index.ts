export { ChangesPages } from './changes-pages.js';
export { cursorOf, isWithin, type Place, placeOf } from './cursor.js';
export { behindPlace, type ChangesRequest } from './request.js';
export { ChangesSelector } from './selector.js';
