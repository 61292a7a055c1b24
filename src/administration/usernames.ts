const LONGEST = 128;
/** A user name ends at the first colon where it is sent (RFC 7617), and control characters are not sent at all. */
const SENDABLE = /^[^:\p{Cc}]{1,128}$/u;
/** What shows nothing, or changes how the text around it is shown. */
const INVISIBLE = /[\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Spaces other than one between two characters: they look like that one, or like none. */
const ODD_SPACE = /^ | $| {2}|(?! )\p{Zs}/u;
/** Paths cannot name these: clients take them for steps. */
const STEPS = ['.', '..'];

const RULE =
  `is not valid: 1 to ${LONGEST} visible characters such as "harvester", with no colon, ` +
  'no spaces but single ones between words, accented letters as one character (NFC), and not "." or "..".';

/** Why a stored credential cannot have this user name; undefined where it can. */
export function usernameFault(username: string): string | undefined {
  return SENDABLE.test(username) && !STEPS.includes(username) ? undefined : RULE;
}

/**
 * Why a new credential cannot have this user name; undefined where it can. Such a name does not look like another one: a
 * list of credentials would not show which of the two has a level or a scope.
 */
export function newUsernameFault(username: string): string | undefined {
  const isPlain =
    !INVISIBLE.test(username) && !ODD_SPACE.test(username) && username.normalize('NFC') === username;
  return isPlain ? usernameFault(username) : RULE;
}
