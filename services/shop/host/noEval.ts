/**
 * Keeps the wire schemas from trying out whether code may be made of text, as they do when they are built: it may not on this page
 * (its CSP), and browsers report each attempt. Imported before anything that builds schemas.
 */
import { config } from "zod/v4/core";

config({ jitless: true });
