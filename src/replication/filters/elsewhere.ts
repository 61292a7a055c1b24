import { mongo } from 'mongoose';
import { databaseProblem, isDuplicateKey, isRefusedQuery, isUnfit } from '../../database/index.js';
import { TermOverError } from '../progress/index.js';

/** Whether the term is over, or the database away: nothing was said about what was asked. */
export function isOfDatabase(error: unknown): boolean {
  return error instanceof TermOverError || databaseProblem(error) !== undefined;
}

/**
 * Whether an error says nothing about the service that is being looked at. Of what the server refuses only queries that
 * make no sense and writes that do not fit are about it; anything else it would refuse for every service.
 */
export function isElsewhere(error: unknown): boolean {
  if (isOfDatabase(error)) return true;
  const isAboutIt = isRefusedQuery(error) || isUnfit(error) || isDuplicateKey(error);
  return error instanceof mongo.MongoServerError && !isAboutIt;
}
