/** Writes the types of `@claimcheck/client` from what the service says of itself in OpenAPI: `npm run client-types`. */
import { writeFile } from 'node:fs/promises'
import { CLIENT_TYPES, clientTypes } from './client-types/types.ts'

await writeFile(CLIENT_TYPES, await clientTypes())
