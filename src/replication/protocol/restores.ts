/**
 * A restore of the database from a backup. Times between the backup and the restore were announced by the database that
 * it replaced: a consumer that continues from one may hold changes that no longer exist.
 */
export interface Restore {
  /** The latest time that the backup has announced. */
  after: Date;
  /** The time of the restore, by the database's clock. */
  until: Date;
}

/** The time itself, or the end of the restores that it lies in: the first time from which a consumer may continue. */
export function afterRestores(time: Date, restores: unknown): Date {
  let after = time;
  while (isOfReplaced(after, restores))
    after = (restores as (Partial<Restore> | null)[]).reduce(
      (latest, one) => (isOfReplaced(after, [one]) && one!.until! > latest ? one!.until! : latest),
      after,
    );
  return after;
}

/** Whether a time was announced by a database that a restore has replaced. Malformed entries are ignored. */
export function isOfReplaced(time: Date, restores: unknown): boolean {
  if (!Array.isArray(restores)) return false;
  return (restores as (Partial<Restore> | null)[]).some(
    (one) => one?.after instanceof Date && one.until instanceof Date && time > one.after && time < one.until,
  );
}
