/**
 * The nginx configuration of a cluster on loopback: the compose file's proxy rules before other addresses.
 */
import path from "node:path";
import { root } from "../sourceTree.ts";

/** What differs from the compose file. */
export interface NginxPlace {
  /** Folder for its pid and temporary files. */
  readonly directory: string;
  readonly port: number;
  readonly frontPorts: readonly number[];
  /** Where fronts serve the shop's own page, which is at `/shop/`. Default: nowhere. */
  readonly pagePorts?: readonly number[];
}

/** The text of the main file. */
export function nginxConf({ directory, port, frontPorts, pagePorts = [] }: NginxPlace): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `daemon off;
# One process: a SIGKILL leaves no worker behind that holds the port.
master_process off;
error_log stderr notice;
pid ${path.join(directory, "nginx.pid")};
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_timeout 75s;
${temporary.map((name) => `  ${name}_temp_path ${path.join(directory, name)};`).join("\n")}
  upstream fronts {
${frontPorts.map((each) => `    server 127.0.0.1:${each} max_fails=0;`).join("\n")}
    keepalive 64;
    keepalive_timeout 60s;
  }
${pagePorts.length === 0 ? "" : pagesUpstream(pagePorts)}  server {
    listen 127.0.0.1:${port};
${pagePorts.length === 0 ? "" : pagesLocation}    include ${path.join(root, "infra/nginx/proxy.conf")};
  }
}
`;
}

function pagesUpstream(pagePorts: readonly number[]): string {
  return `  upstream pages {
${pagePorts.map((each) => `    server 127.0.0.1:${each} max_fails=0;`).join("\n")}
  }
`;
}

const pagesLocation = `    location /shop/ {
      proxy_pass http://pages/;
      proxy_set_header Host $http_host;
    }
`;
