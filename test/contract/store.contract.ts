import { describe } from 'vitest';
import { appendPermitContract } from './append-permit.contract.ts';
import { artifactStoreContract } from './artifact-store.contract.ts';
import { keyringStoreContract } from './keyring-store.contract.ts';
import { pinnedWorkflowsContract } from './pinned-workflows.contract.ts';
import { refusedPlansContract } from './refused-plans.contract.ts';
import { sessionIndexContract } from './session-index.contract.ts';
import { sessionLogsContract } from './session-logs.contract.ts';
import { sessionMarksContract } from './session-marks.contract.ts';
import { sessionStoreContract } from './session-store.contract.ts';
import { snapshotStoreContract } from './snapshot-store.contract.ts';
import type { MakeStore } from './store-under-test.ts';

/** Everything that every store must guarantee. */
export function storeContract(makeStore: MakeStore): void {
  describe('sessions', () => sessionStoreContract(makeStore));
  describe('logs', () => sessionLogsContract(makeStore));
  describe('permits', () => appendPermitContract(makeStore));
  describe('refused plans', () => refusedPlansContract(makeStore));
  describe('the index', () => sessionIndexContract(makeStore));
  describe('marks', () => sessionMarksContract(makeStore));
  describe('snapshots', () => snapshotStoreContract(makeStore));
  describe('artifacts', () => artifactStoreContract(makeStore));
  describe('pinned workflows', () => pinnedWorkflowsContract(makeStore));
  describe('the keyring', () => keyringStoreContract(makeStore));
}
