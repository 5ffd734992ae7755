import { unreachable } from '../../core/assert.ts';
import type { Salvage } from '../../core/log/health.ts';
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
