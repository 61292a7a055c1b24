import type { mongo } from 'mongoose';
import type { ModelState } from '../world/documents.js';
import type { Instance, ModelWorld } from '../world/world.js';

/** For a mutant: how often it is the stream of the filters that moves. */
const SELDOM = 0.2;

/** What an instance goes by at one look: progress, marks and moments, and the filters beside them. */
export interface Source {
  progress: () => ModelState;
  filters: () => ModelState;
  /** Whether it comes from memory: one state of the past, and not the database as it stands at each look. */
  isKnown: boolean;
}

/** What an instance knows; where it knows nothing, it asks the database. */
export function sourceFor(world: ModelWorld, { known, knownFilters }: Instance): Source {
  const { database } = world;
  const now = () => database.now;
  if (known === undefined) return { progress: now, filters: now, isKnown: false };
  const state = database.asOf(known);
  const filters = world.has('two streams') ? database.asOf(knownFilters ?? known) : state;
  const isMixed = world.has('the moment from the database, the filter from memory');
  return { progress: isMixed ? now : () => state, filters: () => filters, isKnown: true };
}

/** An instance begins to follow the log at some place, or comes further on its way along it, but not always to the end. */
export function followOn(world: ModelWorld, instance: Instance): void {
  const isOfFilters = world.has('two streams') && world.dice.chance(SELDOM);
  if (!isOfFilters || instance.known === undefined) instance.known = later(world, instance.known);
  if (isOfFilters || instance.knownFilters === undefined)
    instance.knownFilters = later(world, instance.knownFilters);
}

function later({ database, dice }: ModelWorld, from: mongo.Timestamp | undefined): mongo.Timestamp {
  if (from === undefined) return database.newest;
  const times = database.timesAfter(from);
  return times[dice.below(times.length)] ?? from;
}

/** It knows everything. */
export function catchUp({ database }: ModelWorld, instance: Instance): void {
  instance.known = instance.knownFilters = database.newest;
}

/** Its stream is broken: it asks the database until it has begun anew. */
export function forget(instance: Instance): void {
  delete instance.known;
  delete instance.knownFilters;
}
