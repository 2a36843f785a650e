/** What a test file prepares for all of its tests ends with the file, also where the process goes on with another file. */
import t from 'tap'

type Ending = () => unknown

const endings: Ending[] = []

/** The last one that was given runs first. */
export function afterFile(end: Ending): void {
  endings.push(end)
}

/** For who runs several files in one process. In a process of one file this happens at its end. */
export async function endFile(): Promise<void> {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end()
}

t.teardown(endFile)
