"""Imported before the snapshot is taken, so that every interpreter starts with it."""

import abc, argparse, array, ast, asyncio, base64, bisect, calendar, collections, concurrent.futures, contextlib  # noqa: E401, F401
import copy, csv, dataclasses, datetime, decimal, difflib, enum, fnmatch, fractions, functools, gc, glob, gzip  # noqa: E401, F401
import hashlib, heapq, html, importlib, importlib.metadata, importlib.util, inspect, io, itertools, json  # noqa: E401, F401
import linecache, logging, math, numbers, operator, os, pathlib, pickle, platform, pprint, queue, random, re  # noqa: E401, F401
import runpy, secrets, shlex, shutil, signal, sqlite3, statistics, string, struct, subprocess, sys, tempfile  # noqa: E401, F401
import textwrap, threading, time, timeit, traceback, types, typing, unittest, unittest.mock, urllib.parse, uuid  # noqa: E401, F401
import warnings, weakref, xml.etree.ElementTree, zipfile, zlib  # noqa: E401, F401
import encodings.ascii, encodings.idna, encodings.latin_1, encodings.utf_16, encodings.utf_8_sig  # noqa: E401, F401

import _sandkit.main  # noqa: F401
