/** What failed, to be told once more at the end of a run: nobody finds it among the hundred thousand lines before. */

const LONGEST_DETAILS = 30

/** The failed tests of a TAP stream as its lines say them, each with what it says of the failure, and each below the tests that hold it. */
export function failuresOf(tap: string): string[] {
  const lines = tap.split('\n')
  return lines.flatMap((line, at) => (/^ *not ok /.test(line) ? [line, ...detailsAfter(lines, at)] : []))
}

/** The YAML block after a test. */
function detailsAfter(lines: readonly string[], at: number): readonly string[] {
  if (lines[at + 1]?.trim() !== '---') return []
  const end = lines.findIndex((line, index) => index > at && line.trim() === '...')
  return lines.slice(at + 2, Math.min(end === -1 ? lines.length : end, at + 2 + LONGEST_DETAILS))
}
