/** Writes names and values in two columns. */

/** A name with its value; a fact without a value is left out of the columns. */
export type Fact = readonly [name: string, value: string | undefined]

export function factLines(facts: readonly Fact[]): string[] {
  const width = Math.max(...facts.map(([name]) => name.length))
  return facts.filter(([, value]) => value !== undefined).map(([name, value]) => `  ${name.padEnd(width)}  ${value}`)
}
