/** What a forecast may use: nothing (W₀), records of its own environment, of the others, or of both. */
export const historyKinds = ['none', 'in-environment', 'cross-environment', 'pooled'] as const
export type HistoryKind = (typeof historyKinds)[number]
