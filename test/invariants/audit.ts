/** One normative rule of the papers, in our words. */
export type Invariant = {
  readonly id: string;
  readonly rule: string;
  readonly area: string;
  readonly capability: string;
};

/** A test file says that it holds a rule. */
export type Claim = {
  readonly id: string;
  readonly path: string;
  /** The test does not run everywhere, so the rule needs another one. */
  readonly maySkip?: boolean;
};

export type Audit = {
  /** Claims of rules that the registry does not know. */
  readonly unknown: readonly Claim[];
  /** Ids that the registry holds more than once. */
  readonly duplicates: readonly string[];
  /** Rules of built capabilities that no test claims which runs everywhere. */
  readonly orphans: readonly Invariant[];
  /** Rules of capabilities still to be built. */
  readonly open: readonly Invariant[];
};

export type AuditInput = {
  readonly rules: readonly Invariant[];
  readonly claims: readonly Claim[];
  readonly builtCapabilities: readonly string[];
};

/** Compares the registry with what tests claim to hold. */
export function auditInvariants({ rules, claims, builtCapabilities }: AuditInput): Audit {
  const known = new Set(rules.map(({ id }) => id));
  const claimed = new Set(claims.filter(({ maySkip }) => maySkip !== true).map(({ id }) => id));
  const isBuilt = ({ capability }: Invariant) => builtCapabilities.includes(capability);
  return {
    unknown: claims.filter(({ id }) => !known.has(id)),
    duplicates: [...known].filter((id) => rules.filter((rule) => rule.id === id).length > 1),
    orphans: rules.filter((rule) => isBuilt(rule) && !claimed.has(rule.id)),
    open: rules.filter((rule) => !isBuilt(rule)),
  };
}

/** Orphans as one line for each area, for the message of a failing check. */
export function orphansByArea(orphans: readonly Invariant[]): readonly string[] {
  const areas = [...new Set(orphans.map(({ area }) => area))].sort();
  return areas.map((area) => {
    const ids = orphans.filter((rule) => rule.area === area).map(({ id }) => id);
    return `${area} (${ids.length}): ${ids.join(', ')}`;
  });
}
