import { syntaxTree } from '@codemirror/language';
import { jsonParseLinter } from '@codemirror/lang-json';
import type { Diagnostic } from '@codemirror/lint';
import type { EditorView } from '@codemirror/view';
import { rangeOf } from './place.js';

const parseFault = jsonParseLinter();
/** How the service names a place in its sentences. */
const PLACE = / at (\S+?)[.,;:]?(?=\s|$)/;

/** What is wrong in the text: its JSON, or else what the service said of the filter, where it said it. */
export function faultsIn(view: EditorView, fault: string | undefined): Diagnostic[] {
  const wrong = parseFault(view);
  if (wrong.length > 0 || fault === undefined) return wrong;
  const text = view.state.doc.toString();
  const place = PLACE.exec(fault)?.[1] ?? '';
  const range = rangeOf(text, syntaxTree(view.state).topNode, place);
  return [{ ...range, severity: 'error', message: fault }];
}
