import { useCallback, useEffect, useRef, useState } from 'react';

/** Something that somebody starts, such as saving: whether it is under way, and why it failed. */
export interface Work {
  isWorking: boolean;
  error: unknown;
  /** Whether it was done. One at a time: what was begun before is cancelled. */
  start: (work: (signal: AbortSignal) => Promise<void>) => Promise<boolean>;
  cancel: () => void;
  forget: () => void;
}

export function useWork(): Work {
  const [state, setState] = useState<{ isWorking: boolean; error?: unknown }>({ isWorking: false });
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), []);

  const start = useCallback(async (work: (signal: AbortSignal) => Promise<void>) => {
    controller.current?.abort();
    const current = new AbortController();
    controller.current = current;
    setState({ isWorking: true });
    try {
      await work(current.signal);
      if (!current.signal.aborted) setState({ isWorking: false });
      return !current.signal.aborted;
    } catch (error) {
      if (!current.signal.aborted) setState({ isWorking: false, error });
      return false;
    }
  }, []);
  const cancel = useCallback(() => {
    controller.current?.abort();
    setState({ isWorking: false });
  }, []);
  const forget = useCallback(() => setState({ isWorking: false }), []);
  return { isWorking: state.isWorking, error: state.error, start, cancel, forget };
}
