/** What a test file prepares for all of its tests ends with the file, also where the process goes on with another file. */

type Ending = () => unknown

const endings: Ending[] = []

/** What was given last runs first. */
export function afterFile(end: Ending): void {
  // In a process of several files `endFile` is called after each of them.
  if (endings.length === 0 && !process.env.TEST_FILES?.includes(' ')) void endWithTests()
  endings.push(end)
}

export async function endFile(): Promise<void> {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end()
}

/** Not imported above: programs that are no tests use parts of this folder, and tap would take them for one. */
async function endWithTests(): Promise<void> {
  const { default: t } = await import('tap')
  t.teardown(endFile)
}
