/**
 * Takes steps that end something, one after the other, each also where an earlier one failed.
 * @throws the first error, once all are done
 */
export async function endInOrder(...steps: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
