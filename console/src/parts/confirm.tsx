import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { useWork } from '../hooks/use-work.js';
import { Busy } from './busy.js';
import { Dialog } from './dialog.js';
import { Problem } from './problem.js';

/** A button whose work is done only after somebody has read what it does. */
export function Confirm({
  label,
  title,
  action,
  children,
  work,
  onUncertain,
  isDisabled,
  isMain,
}: {
  label: string;
  title: string;
  /** What the button in the question says. */
  action: string;
  children: ReactNode;
  work: (signal: AbortSignal) => Promise<void>;
  /** Called when the question is closed after the work failed or was cancelled: what the page shows may be out of date. */
  onUncertain?: () => void;
  isDisabled?: boolean;
  isMain?: boolean;
}) {
  const button = useRef<HTMLButtonElement>(null);
  useKeyboardKept(button);
  const { isAsking, isWorking, error, open, close, confirm, cancel } = useQuestion(work, onUncertain);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={isMain ? 'main' : undefined}
        disabled={isDisabled}
        onClick={open}
      >
        {label}
      </button>
      {!isAsking && <Problem error={error} />}
      {isAsking && (
        <Dialog title={title} onClose={close}>
          {children}
          <Problem error={error} />
          <Busy isBusy={isWorking} what={action} cancel={cancel} />
          <div className="buttons">
            <button type="button" className="main" disabled={isWorking} onClick={() => void confirm()}>
              {action}
            </button>
            <button type="button" onClick={close}>
              Leave it
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/**
 * A question that is opened and closed. Closing it does not stop work that is under way. An error that was shown in the
 * question is forgotten with it; an error of work that ends later is kept.
 */
function useQuestion(work: (signal: AbortSignal) => Promise<void>, onUncertain: (() => void) | undefined) {
  const [isAsking, setIsAsking] = useState(false);
  const { isWorking, error, start, cancel, forget } = useWork();
  const isUncertain = useRef(false);
  const open = () => {
    if (!isWorking) forget();
    setIsAsking(true);
  };
  const close = () => {
    setIsAsking(false);
    if (!isWorking) forget();
    if (isUncertain.current) onUncertain?.();
    isUncertain.current = false;
  };
  const confirm = async () => {
    isUncertain.current = true;
    if (!(await start(work))) return;
    isUncertain.current = false;
    close();
  };
  return { isAsking, isWorking, error, open, close, confirm, cancel };
}

/** When a button goes that has the keyboard, such as that of a removed row, the keyboard goes to the heading of the page. */
function useKeyboardKept(button: React.RefObject<HTMLButtonElement | null>): void {
  useLayoutEffect(() => {
    const { current } = button;
    return () => {
      if (document.activeElement === current)
        document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    };
  }, []);
}
