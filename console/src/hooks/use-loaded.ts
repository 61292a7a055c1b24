import { useCallback, useEffect, useRef, useState } from 'react';
import { isAway, isSessionOver } from '../api/client.js';
import { useSession } from './use-session.js';

/** What is being loaded: what is known, why it failed, whether it is under way. */
export interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  isLoading: boolean;
  reload: () => void;
  cancel: () => void;
}

interface State<T> {
  key: string | undefined;
  data?: T | undefined;
  error?: unknown;
  isLoading: boolean;
}

/** How long to wait before what could not be loaded for a moment is loaded again (milliseconds). */
const AWAY_MS = 3000;

/**
 * Loads something when it is first shown, and anew whenever `key` changes; what was begun before is cancelled. With
 * `everyMs` it is loaded again and again, as long as the page is looked at. What failed because the session was over is loaded
 * once somebody has signed in again; what is not known because the service was unavailable (503), every three seconds. Nothing
 * else is, so that nothing that was typed is replaced.
 */
export function useLoaded<T>(
  key: string | undefined,
  load: (signal: AbortSignal, isPoll: boolean) => Promise<T>,
  everyMs?: number,
): Loaded<T> {
  const [state, setState] = useState<State<T>>({ key, isLoading: key !== undefined });
  const [run, setRun] = useState({ turn: 0, isPoll: false });
  const controller = useRef<AbortController>(undefined);
  const { isOver } = useSession();

  useEffect(() => {
    if (key === undefined) return setState({ key, isLoading: false });
    const current = new AbortController();
    controller.current = current;
    const set = (next: (before: State<T>) => State<T>) => {
      if (!current.signal.aborted) setState(next);
    };
    set((before) => ({ key, data: before.key === key ? before.data : undefined, isLoading: true }));
    load(current.signal, run.isPoll).then(
      (data) => set(() => ({ key, data, isLoading: false })),
      (error: unknown) => set(({ data }) => ({ key, data, error, isLoading: false })),
    );
    return () => current.abort();
    // What is loaded is named by the key; the function is another one at each rendering.
  }, [key, run]);

  const isUnknown = state.data === undefined && isAway(state.error);
  const pauseMs = isUnknown ? AWAY_MS : everyMs;
  usePolls(state.isLoading || isOver ? undefined : pauseMs, setRun);

  const reload = useCallback(() => setRun(({ turn }) => ({ turn: turn + 1, isPoll: false })), []);
  useEffect(() => {
    if (!isOver && isSessionOver(state.error)) reload();
  }, [isOver]);
  const cancel = useCallback(() => {
    controller.current?.abort();
    setState((before) => ({ ...before, isLoading: false }));
  }, []);
  const isThis = state.key === key;
  return {
    data: isThis ? state.data : undefined,
    error: isThis ? state.error : undefined,
    isLoading: state.isLoading,
    ...{ reload, cancel },
  };
}

interface Run {
  turn: number;
  isPoll: boolean;
}

/** Runs again and again after such a pause, as long as the page is looked at. */
function usePolls(pauseMs: number | undefined, setRun: (next: (before: Run) => Run) => void): void {
  useEffect(() => {
    if (pauseMs === undefined) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) setRun(({ turn }) => ({ turn: turn + 1, isPoll: true }));
    }, pauseMs);
    return () => clearInterval(timer);
  }, [pauseMs]);
}
