import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../../observability/index.js';
import type { Kind } from '../../record/index.js';
import { Ledger } from '../ledger/index.js';
import type { LogPlace, TermAtWork } from '../progress/index.js';
import { Resurrections, Restamps } from '../stamping/index.js';
import { LEDGER_FAULTS, type LedgerFault, type LedgerFaultKind, faultsSentence } from './audit-faults.js';

const AT_ONCE = 1000;

/** Puts right what the audit found, and tells of it. */
@Injectable()
export class AuditRepair {
  private readonly log = new Logger('Audit');

  constructor(
    private readonly ledger: Ledger,
    private readonly resurrections: Resurrections,
    private readonly restamps: Restamps,
    private readonly metrics: Metrics,
  ) {
    for (const what of LEDGER_FAULTS) metrics.auditFound.inc({ what }, 0);
  }

  /** The faults were seen as of `at`. What the ledger has learned of later stays. */
  async repair(kind: Kind, faults: LedgerFault[], at: LogPlace, term: TermAtWork): Promise<void> {
    if (faults.length === 0) return;
    this.tell(faults);
    for (let start = 0; start < faults.length; start += AT_ONCE) {
      const some = faults.slice(start, start + AT_ONCE);
      await this.learnLives(kind, some.filter(isOf('unknown record')), at, term);
      await this.learnDeaths(some.filter(isOf('living entry without record')), at);
    }
  }

  /** It is unknown what consumers received of these records, so they receive them again. */
  private async learnLives(kind: Kind, faults: LedgerFault[], at: LogPlace, term: TermAtWork): Promise<void> {
    const lives = faults.map(({ identity, owner, isNumber }) => ({
      ...{ identity, owner, at, alive: true as const, ...(isNumber && { isNumber }) },
    }));
    await this.resurrections.learnSeen(kind, lives, term);
    const owners = faults.map(({ owner }) => owner);
    await this.restamps.records(kind, owners, 'audit', term);
  }

  private async learnDeaths(faults: LedgerFault[], at: LogPlace): Promise<void> {
    const deaths = faults.map(({ identity }) => ({
      ...{ identity, at, alive: false as const, shortLived: false },
    }));
    await this.ledger.learn(deaths);
  }

  private tell(faults: LedgerFault[]): void {
    for (const { what } of faults) this.metrics.auditFound.inc({ what });
    this.log.error(faultsSentence(faults));
  }
}

function isOf(what: LedgerFaultKind): (fault: LedgerFault) => boolean {
  return (fault) => fault.what === what;
}
