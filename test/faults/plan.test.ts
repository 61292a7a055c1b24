import { type HistoryPlan, planOf } from './plan/index.js';

const SHORT = 300;

function faultsOf({ rounds }: HistoryPlan): string[] {
  return rounds.flatMap(({ outage, disturbances }) => [
    outage.do,
    ...disturbances.map((disturbance) => disturbance.do),
  ]);
}

test('the plan of a history is a pure function of its seed', () => {
  expect(planOf(7, SHORT)).toEqual(planOf(7, SHORT));
  expect(planOf(7, SHORT)).not.toEqual(planOf(10, SHORT));
});

test('a plan holds as many operations as it is asked for', () => {
  expect(planOf(4, SHORT).rounds.flatMap(({ steps }) => steps)).toHaveLength(SHORT);
});

test('any four seeds in a row contain every kind of fault and of operation, in short histories too', () => {
  const plans = [1, 2, 3, 4].map((seed) => planOf(seed, SHORT));
  expect(new Set(plans.flatMap(faultsOf))).toEqual(
    new Set([
      'killService',
      'restartService',
      'pauseLeader',
      'killMongod',
      'killPrimary',
      'passOplog',
      'ownPass',
      'lostPlace',
      'cutOwnPass',
      'cutConnections',
      'blackHole',
      'holdCommand',
      'editFilter',
      'removeService',
      'disableService',
      'dropCollection',
      'renameOver',
      'renameAway',
      'recreateKind',
      'kindPass',
      'flood',
    ]),
  );
  const steps = plans.flatMap(({ rounds }) => rounds.flatMap((round) => round.steps));
  expect(new Set(steps.map(({ operation }) => operation.do)).size).toBe(22);
});
