import { useEffect, useState } from 'react';

const SOON_MS = 1000;

/** What takes longer than a second says so, for how long already, and can be cancelled. */
export function Busy({ isBusy, what, cancel }: { isBusy: boolean; what: string; cancel: () => void }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    setSeconds(0);
    if (!isBusy) return undefined;
    const timer = setInterval(() => setSeconds((before) => before + 1), SOON_MS);
    return () => clearInterval(timer);
  }, [isBusy]);
  return (
    <div role="status" className="busy" hidden={!isBusy || seconds === 0}>
      {isBusy && seconds > 0 && (
        <>
          <progress aria-label={what} /> {what}, {seconds} s
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        </>
      )}
    </div>
  );
}
