import { createContext, useContext } from 'react';
import type { SignedIn, Tenant } from '../api/types.js';

export interface Session {
  who: SignedIn;
  /** The page is hidden until the same user has signed in again. */
  isOver: boolean;
  signOut: () => void;
  /** Why the session could not be ended. */
  signOutError: unknown;
  /** Asks the service again who is signed in, and which kinds it has. */
  renew: () => void;
}

const SessionContext = createContext<Session | undefined>(undefined);
export const SessionProvider = SessionContext.Provider;

/** Who is signed in: everything but the page for signing in lies within. */
export function useSession(): Session {
  return useContext(SessionContext)!;
}

/** The kinds of records that an application can have. */
export function kindsOf({ kinds, fixedKinds }: SignedIn, { organizationid, appid }: Tenant): string[] {
  return kinds.filter((kind) => {
    const fixed = fixedKinds.find((one) => one.kind === kind);
    return fixed === undefined || (fixed.organizationid === organizationid && fixed.appid === appid);
  });
}
