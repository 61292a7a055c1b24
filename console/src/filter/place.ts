import type { SyntaxNode } from '@lezer/common';

/** Where something stands in a text. */
export interface Range {
  from: number;
  to: number;
}

const POSITION = /^\[(\d+)\]/;

/**
 * Where a place of a filter, such as `$or[1].data.price`, stands in its JSON. Field names may hold dots, so names are
 * tried as they stand in the text. What cannot be found leads to the nearest place around it.
 */
export function rangeOf(text: string, root: SyntaxNode, place: string): Range {
  let node: SyntaxNode | null = root.name === 'JsonText' ? root.firstChild : root;
  let found: Range = { from: node?.from ?? 0, to: node?.to ?? text.length };
  let rest = place;
  while (node !== null && rest !== '') {
    const step = node.name === 'Array' ? elementOf(node, rest) : propertyOf(text, node, rest);
    if (step === undefined) break;
    found = step.range;
    node = step.value;
    rest = step.rest.replace(/^\./, '');
  }
  return found;
}

interface Step {
  range: Range;
  value: SyntaxNode | null;
  rest: string;
}

function propertyOf(text: string, object: SyntaxNode, place: string): Step | undefined {
  const steps = object.getChildren('Property').map((property) => {
    const name = property.getChild('PropertyName');
    const key = name === null ? '' : keyIn(text.slice(name.from, name.to));
    return { key, range: { from: name?.from ?? 0, to: name?.to ?? 0 }, value: property.lastChild };
  });
  const fitting = steps
    .filter(({ key }) => key !== '' && place.startsWith(key) && /^[.[]?$|^[.[]/.test(place.slice(key.length)))
    .sort((one, other) => other.key.length - one.key.length)[0];
  return fitting && { ...fitting, rest: place.slice(fitting.key.length) };
}

function elementOf(array: SyntaxNode, place: string): Step | undefined {
  const [whole, index] = POSITION.exec(place) ?? [];
  if (whole === undefined) return undefined;
  const elements: SyntaxNode[] = [];
  for (let node = array.firstChild; node !== null; node = node.nextSibling)
    if (!['[', ']', ',', '⚠'].includes(node.name)) elements.push(node);
  const element = elements[Number(index)];
  return (
    element && {
      range: { from: element.from, to: element.to },
      value: element,
      rest: place.slice(whole.length),
    }
  );
}

function keyIn(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return '';
  }
}
