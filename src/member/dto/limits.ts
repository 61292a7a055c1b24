/** UTF-16 characters, as everywhere in JavaScript (contract §2). */
export const LONGEST_TEXT = 1000;
export const LONGEST_PASSWORDHASH = 4096;
export const LONGEST_EMAIL = 254;

export const MOST_SECTIONS = 100;
export const MOST_PROPERTIES = 200;
