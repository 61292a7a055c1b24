import { createContext, useContext } from 'react';
import type { SignedIn } from '../api/types.js';

export interface Session {
  who: SignedIn;
  /** The page is hidden until the same user has signed in again. */
  isOver: boolean;
  signOut: () => void;
  /** Asks the service again who is signed in, and which kinds it has. */
  renew: () => void;
}

const SessionContext = createContext<Session | undefined>(undefined);
export const SessionProvider = SessionContext.Provider;

/** Who is signed in: everything but the page for signing in lies within. */
export function useSession(): Session {
  return useContext(SessionContext)!;
}
