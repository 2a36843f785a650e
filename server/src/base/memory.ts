/** How much memory this program may take. */
import { totalmem } from 'node:os'

/** In bytes: the machine's, or less in a container. */
export function memoryLimit(): number {
  const constrained = process.constrainedMemory()
  return constrained > 0 && constrained < totalmem() ? constrained : totalmem()
}
