import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { faultsIn } from './faults.js';

/** Colours come from the style sheet, which knows light and dark. */
const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--text-of-data)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--number-of-data)' },
]);

const look = EditorView.theme({
  '&': {
    backgroundColor: 'var(--field)',
    color: 'var(--text)',
    border: '1px solid var(--edge)',
    borderRadius: '6px',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--text)', minHeight: '12rem' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--ground)', color: 'var(--faint)', border: 'none' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    backgroundColor: 'var(--accent-faint) !important',
  },
  // The library's own marks are pictures in the style sheet, which the page's policy does not let in.
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)' },
  '.cm-lint-marker-error': { content: '"●"', color: 'var(--bad)' },
  '.cm-tooltip': { backgroundColor: 'var(--card)', color: 'var(--text)', border: '1px solid var(--edge)' },
});

/** Vite gives the page the nonce of its answer; the policy lets styles with it in, and no others. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';

/** Edits the JSON of a filter; what is wrong in it is marked while somebody types. Tab leaves it, as any other field. */
export function FilterEditor({
  text,
  fault,
  onChange,
}: {
  text: string;
  fault: string | undefined;
  onChange: (text: string) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const changed = useRef(onChange);
  changed.current = onChange;

  useEffect(() => {
    const made = new EditorView({
      parent: place.current!,
      state: EditorState.create({ doc: text, extensions: extensions((now) => changed.current(now)) }),
    });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const { current } = view;
    if (current === undefined) return;
    const length = current.state.doc.length;
    if (current.state.doc.toString() !== text)
      current.dispatch({ changes: { from: 0, to: length, insert: text } });
    current.dispatch(setDiagnostics(current.state, faultsIn(current, fault)));
  }, [text, fault]);

  return <div ref={place} className="editor" />;
}

function extensions(onChange: (text: string) => void) {
  return [
    EditorView.cspNonce.of(nonce),
    ...[lineNumbers(), lintGutter(), history(), drawSelection(), bracketMatching(), indentOnInput()],
    ...[indentUnit.of('  '), json(), syntaxHighlighting(colours), look, EditorView.lineWrapping],
    keymap.of([...defaultKeymap, ...historyKeymap]),
    EditorView.contentAttributes.of({ 'aria-label': 'Filter, as JSON', 'aria-multiline': 'true' }),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) onChange(state.doc.toString());
    }),
  ];
}
