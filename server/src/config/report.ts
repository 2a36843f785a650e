/** The function with which each reader of the configuration reports a mistake, so that all of them are shown at once. */
export type Report = (problem: string) => void
