import type { Contract } from '../builtins/contract.ts';
import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import type { WholeCondition } from '../format/syntax.ts';
import type { AssessmentSyntax } from '../format/workflow-fields.ts';

/** What emitting a workflow knows and gathers. */
export type Emission = {
  readonly agentRole?: string;
  /** Files without a namespace in their id are from before there were secrets to protect; they still run. */
  readonly isLegacy: boolean;
  /** Other workflows call it, also inside of their loops. */
  readonly isRoutine: boolean;
  readonly conditions: ReadonlyMap<string, WholeCondition>;
  readonly assessments: ReadonlyMap<string, AssessmentSyntax>;
  /** Functions with the scope that defines them. */
  readonly functions: CompiledWorkflow['functions'];
  /** What the workspace put into extension points. */
  readonly boundTexts: readonly string[];
  readonly hashText: (text: string) => string;
  /** The contracts that steps ask for. */
  readonly contracts: Map<string, Contract>;
  /** Places at which an id was found too long. */
  readonly longIds: Set<string>;
  /** How many bytes assessments take, by id. */
  readonly measured: Map<string, number>;
  readonly findings: CompilerFinding[];
};
