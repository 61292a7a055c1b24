import { type ReactNode, useState } from 'react';
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
  isDisabled,
  isMain,
}: {
  label: string;
  title: string;
  /** What the button in the question says. */
  action: string;
  children: ReactNode;
  work: (signal: AbortSignal) => Promise<void>;
  isDisabled?: boolean;
  isMain?: boolean;
}) {
  const [isAsking, setIsAsking] = useState(false);
  const { isWorking, error, start, cancel, forget } = useWork();
  const close = () => {
    setIsAsking(false);
    forget();
  };
  const confirm = async () => {
    if (await start(work)) close();
  };
  return (
    <>
      <button
        type="button"
        className={isMain ? 'main' : undefined}
        disabled={isDisabled}
        onClick={() => setIsAsking(true)}
      >
        {label}
      </button>
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
