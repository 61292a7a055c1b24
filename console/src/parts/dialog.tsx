import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { useSession } from '../hooks/use-session.js';

/**
 * A question in front of the page. The browser keeps the keyboard within it, and Escape closes it. It steps back while somebody
 * signs in again, since an open one takes the keyboard from everything else.
 */
export function Dialog({
  title,
  children,
  onClose,
}: {
  title: string;
  children: ReactNode;
  onClose: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const { isOver } = useSession();
  useLayoutEffect(() => {
    // Closed before it is taken out, it gives the keyboard back to where that was.
    const element = dialog.current!;
    return () => element.close();
  }, []);
  useEffect(() => (isOver ? dialog.current?.close() : dialog.current?.showModal()), [isOver]);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={() => !isOver && onClose()}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
