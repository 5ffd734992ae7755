import { describe } from 'vitest';
import { nodeHasher, randomIds, systemClock } from '../../src/adapters/system.ts';
import { clockContract } from './clock.contract.ts';
import { hasherContract } from './hasher.contract.ts';
import { idsContract } from './ids.contract.ts';

describe('the clock of the system', () => clockContract(() => systemClock));
describe('random ids', () => idsContract(randomIds));
describe("Node's cryptography", () => hasherContract(() => nodeHasher));
