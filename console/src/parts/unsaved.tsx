import { useEffect, useState } from 'react';
import { holdBack } from '../hooks/use-route.js';
import { Dialog } from './dialog.js';

/** Asks before the page is left while something in it is not saved. The browser asks for itself where it closes the page. */
export function Unsaved({ isUnsaved }: { isUnsaved: boolean }) {
  const [leave, setLeave] = useState<() => void>();
  useEffect(() => {
    if (!isUnsaved) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    const letGo = holdBack((go) => setLeave(() => go));
    return () => {
      removeEventListener('beforeunload', ask);
      letGo();
    };
  }, [isUnsaved]);
  if (leave === undefined) return null;
  const stay = () => setLeave(undefined);
  const go = () => {
    stay();
    leave();
  };
  return (
    <Dialog title="Leave without saving?" onClose={stay}>
      <p>What you typed is not saved, and is lost when you leave.</p>
      <div className="buttons">
        <button type="button" className="main" onClick={stay}>
          Stay
        </button>
        <button type="button" onClick={go}>
          Leave
        </button>
      </div>
    </Dialog>
  );
}
