/** A reporter of Jest that ends the run with the first test that fails: what else may fail says no more. */
import { writeFileSync } from 'node:fs';

export default class FirstFailure {
  onTestCaseResult({ path }, { status, fullName, failureMessages }) {
    if (status !== 'failed') return;
    const [said = ''] = failureMessages;
    writeFileSync(process.env.SEEDED_FAULTS_FAILURE, JSON.stringify({ path, fullName, said }));
    process.exit(1);
  }
}
