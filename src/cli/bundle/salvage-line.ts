import { unreachable } from '../../core/assert.ts';
import type { Salvage } from '../../core/log/health.ts';
import { type CommandProblem, EXIT } from '../command.ts';
import type { Line } from '../output/line.ts';

/** The banner of a session that is only part of one. */
export function salvageLine({ health, lastEventIndex }: Salvage): Line {
  return [
    { text: 'Part of a session only', style: 'notable' },
    `: ${causeOf(health)} behind event ${lastEventIndex}. It can be read and exported, and never goes on.`,
  ];
}

function causeOf(health: Salvage['health']): string {
  switch (health) {
    case 'corrupt_tail':
      return 'it is damaged';
    case 'unknown_version':
      return 'a newer workrail wrote what comes';
    case 'import_unfinished':
      return 'its import did not come to its end, at the latest';
    default:
      return unreachable(health);
  }
}

/** The problem of a command line that cannot be meant. */
export function wrongUse(message: string, suggestion: string): CommandProblem {
  return {
    exitCode: EXIT.usage,
    error: { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } },
  };
}
