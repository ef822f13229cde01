import type { Server } from 'node:http';
import { StorageError } from '../core/index.ts';

/** Resolves once the server takes connections; StorageError where the address cannot be had. */
export function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new StorageError(`port ${port} of ${host} is in use`, {
              hint: 'stop what listens there, or choose another port (--port)',
              cause: error,
            })
          : new StorageError(`cannot listen on port ${port} of ${host}: ${error.code ?? error.message}`, {
              hint: 'choose an address of this machine (--host) and a port that you may use (--port)',
              cause: error,
            }),
      );
    });
    server.listen(port, host, resolve);
  });
}
