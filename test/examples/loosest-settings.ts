/** Every setting about what an agent may do, as loose as it can be set. */
export const LOOSEST = {
  mode: 'full_auto_never_stop',
  riskPolicy: 'aggressive',
  'autonomy.max': 'full_auto_never_stop',
  'gates.minimum': 'stated',
  'gates.accept': ['elicitation', 'terminal', 'console', 'team'],
  'gates.fourEyes': false,
  'gates.waitSeconds': 300,
  'gates.unattended': 'gap',
};
